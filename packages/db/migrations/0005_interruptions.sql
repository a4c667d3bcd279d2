-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "held_epoch" bigint;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "interruptions" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "setback" text;--> statement-breakpoint
ALTER TABLE "shard_leases" ADD COLUMN "died_epoch" bigint;