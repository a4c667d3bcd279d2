-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
-- Workers of the version before read only format 1: an existing installation keeps it until its operator says otherwise.
ALTER TABLE "installation" ADD COLUMN "signal_format" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "installation" ALTER COLUMN "signal_format" SET DEFAULT 2;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "signal_format" smallint;
