-- Fast on any size. What stops it is a long transaction, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
DROP INDEX "messages_waiting";
