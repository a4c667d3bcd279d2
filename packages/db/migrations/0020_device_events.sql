-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "announced" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "played_at" timestamp with time zone;