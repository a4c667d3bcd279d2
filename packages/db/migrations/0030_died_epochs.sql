-- Fast on any size. What stops it is a long transaction, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "shard_leases" ADD COLUMN "died_epochs" bigint[];
