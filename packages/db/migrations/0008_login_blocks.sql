-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "status_detail" text;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "login_after" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "login_blocked_rev" integer;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "login_blocked_version" text;