SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "opt_ins" (
	"account_id" integer NOT NULL,
	"number" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "opt_ins_pk" PRIMARY KEY("account_id","number")
);
--> statement-breakpoint
ALTER TABLE "opt_outs" ADD COLUMN "origin" text;--> statement-breakpoint
ALTER TABLE "opt_outs" ADD COLUMN "asked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "opt_ins" ADD CONSTRAINT "opt_ins_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "opt_outs_origin" ON "opt_outs" USING btree ("account_id","origin") WHERE "opt_outs"."origin" IS NOT NULL;