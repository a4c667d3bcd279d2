-- Fast on any size. What stops it is a long transaction, so give up soon. The index is built partition by partition afterwards.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "unavailable" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "written_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "push_name" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "source" text;--> statement-breakpoint
CREATE INDEX "messages_from_phone" ON ONLY "messages" USING btree ("device_id","wa_id") WHERE "messages"."source" IS NOT NULL;