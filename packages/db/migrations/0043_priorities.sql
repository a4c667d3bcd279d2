-- The columns are fast on any size. What stops them is a long transaction, so give up soon. The indexes are declared on the
-- parent alone: migrate.ts builds them on the partitions, one at a time, while messages are accepted.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "uses_priorities" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "priority" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "messages_ready_by_priority" ON ONLY "messages" USING btree ("device_id","priority","seq") WHERE "messages"."is_waiting" AND "messages"."send_at" IS NULL;--> statement-breakpoint
CREATE INDEX "messages_scheduled_by_priority" ON ONLY "messages" USING btree ("device_id","priority","send_at","seq") WHERE "messages"."is_waiting" AND "messages"."send_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "messages_expiring" ON ONLY "messages" USING btree ("expires_at") WHERE "messages"."is_waiting" AND "messages"."expires_at" IS NOT NULL;