-- Fast on any size. What stops it is a long transaction, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "detail" jsonb;--> statement-breakpoint
ALTER TABLE "stream_tokens" ADD COLUMN "after" text;