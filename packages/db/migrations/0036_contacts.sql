SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "contacts" (
	"account_id" integer NOT NULL,
	"lid_jid" text NOT NULL,
	"number" text,
	"username" text,
	"seen_on" date DEFAULT CURRENT_DATE NOT NULL,
	CONSTRAINT "contacts_pk" PRIMARY KEY("account_id","lid_jid")
);
--> statement-breakpoint
CREATE INDEX "contacts_number" ON "contacts" USING btree ("account_id","number") WHERE "contacts"."number" IS NOT NULL;