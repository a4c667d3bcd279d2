-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
ALTER TABLE "devices" ADD COLUMN "announced" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "played_at" timestamp with time zone;--> statement-breakpoint
CREATE TABLE "opt_outs" (
	"account_id" integer NOT NULL,
	"number" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "opt_outs_pk" PRIMARY KEY("account_id","number")
);
--> statement-breakpoint
ALTER TABLE "opt_outs" ADD CONSTRAINT "opt_outs_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;