SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "account_deletions" (
	"account_id" integer PRIMARY KEY NOT NULL,
	"proof_hash" "bytea" NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"deleted" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "account_deletions_proof_hash" UNIQUE("proof_hash")
);
--> statement-breakpoint
CREATE TABLE "mailed_links" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mailed_links_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"purpose" text NOT NULL,
	"email" text NOT NULL,
	"account_id" integer,
	"hash" "bytea" NOT NULL,
	"role" text,
	"devices_allowed" integer,
	"account_expires_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "mailed_links_hash" UNIQUE("hash"),
	CONSTRAINT "mailed_links_account_known" CHECK (("mailed_links"."account_id" IS NULL) = ("mailed_links"."purpose" IN ('sign-up', 'invitation')))
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"key_id" integer PRIMARY KEY NOT NULL,
	"account_id" integer NOT NULL,
	"user_agent" text,
	"network" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "disabled_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "mailed_links" ADD CONSTRAINT "mailed_links_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_deletions_due_at" ON "account_deletions" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "mailed_links_email" ON "mailed_links" USING btree ("email");--> statement-breakpoint
CREATE INDEX "mailed_links_account" ON "mailed_links" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "mailed_links_expires_at" ON "mailed_links" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_account" ON "sessions" USING btree ("account_id");