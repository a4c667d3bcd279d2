-- Fast on any size. What stops it is a long transaction, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "retry_at" timestamp with time zone;
