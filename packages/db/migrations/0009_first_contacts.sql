-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "restriction_reason" text;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "new_chats_used" integer;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "new_chats_total" integer;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "new_chats_capped" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "new_chats_until" timestamp with time zone;