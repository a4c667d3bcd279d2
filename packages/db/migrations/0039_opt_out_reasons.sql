SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "opt_outs" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "opt_outs" ADD COLUMN "source" text;