-- Fast on any size. What stops it is a long transaction that writes, so give up soon. The index is declared on the parent
-- alone: migrate.ts builds it on the partitions, one at a time, while messages are accepted.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "attempts" smallint DEFAULT 0 NOT NULL, ADD COLUMN "timeline" "bytea";--> statement-breakpoint
CREATE INDEX "messages_incoming" ON ONLY "messages" USING btree ("account_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "messages"."direction" = 'in';