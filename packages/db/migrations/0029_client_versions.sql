-- Fast on any size. What stops it is a long transaction, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "client_versions" (
	"version" text PRIMARY KEY NOT NULL,
	"first_used_at" timestamp with time zone DEFAULT now() NOT NULL,
	"read_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "client_version_due_at" timestamp with time zone DEFAULT now() NOT NULL;
