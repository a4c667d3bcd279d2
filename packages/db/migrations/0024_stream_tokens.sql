-- Fast on any size. What stops it is a long transaction that writes, so give up soon.
SET LOCAL lock_timeout = '5s';--> statement-breakpoint
CREATE TABLE "stream_tokens" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "stream_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" integer NOT NULL,
	"key_id" integer NOT NULL,
	"hash" "bytea" NOT NULL,
	"types" smallint[],
	"device_id" integer,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "stream_tokens_hash" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "stream_tokens" ADD CONSTRAINT "stream_tokens_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stream_tokens" ADD CONSTRAINT "stream_tokens_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "stream_tokens_account" ON "stream_tokens" USING btree ("account_id");