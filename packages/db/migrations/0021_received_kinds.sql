-- Fast on any size, because no released version has the table of events. What stops it is a long transaction that
-- writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "content" jsonb;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "reply_to" jsonb;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "edited_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "deleted_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "events_changes" ON "events" USING btree ("device_id",(data ->> 'waId'::text)) WHERE "events"."type" IN (11, 12, 13, 14);