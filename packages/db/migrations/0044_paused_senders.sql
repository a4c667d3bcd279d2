SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "pause_mode" text;--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "pause_until" timestamp with time zone;