-- On the parent alone, which takes no time: what stops this is a long transaction that writes, so give up soon.
-- The indexes of the partitions are built by migrate.ts, one at a time, while messages are accepted.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE INDEX "messages_number" ON ONLY "messages" USING btree ("account_id","number","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "messages_sender" ON ONLY "messages" USING btree ("account_id","sender","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "messages_failed" ON ONLY "messages" USING btree ("account_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "messages"."error_code" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "messages_ready" ON ONLY "messages" USING btree ("device_id","seq") WHERE "messages"."is_waiting" AND "messages"."send_at" IS NULL;--> statement-breakpoint
CREATE INDEX "messages_scheduled" ON ONLY "messages" USING btree ("device_id","send_at","seq") WHERE "messages"."is_waiting" AND "messages"."send_at" IS NOT NULL;