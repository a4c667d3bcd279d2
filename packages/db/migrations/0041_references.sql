-- The column is fast on any size. What stops it is a long transaction, so give up soon. The index is declared on the parent
-- alone: migrate.ts builds it on the partitions, one at a time, while messages are accepted.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "reference" text;--> statement-breakpoint
CREATE INDEX "messages_reference" ON ONLY "messages" USING btree ("account_id","reference","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "messages"."reference" IS NOT NULL;
