-- Fast on any size that a backlog may have. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "last_success_at" timestamp with time zone, ADD COLUMN "last_failure_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_waiting" ON "webhook_deliveries" USING btree ("webhook_id","id") WHERE "webhook_deliveries"."next_attempt_at" IS NOT NULL;