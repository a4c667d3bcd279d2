CREATE TABLE "media_usage" (
	"account_id" integer PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "created_by" integer;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "exchange_id" text;--> statement-breakpoint
CREATE INDEX "media_blobs_account" ON "media_blobs" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE FUNCTION "count_media_bytes"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		INSERT INTO media_usage AS used (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.bytes))
		ON CONFLICT (account_id) DO UPDATE SET bytes = used.bytes + excluded.bytes;
	ELSE
		UPDATE media_usage SET bytes = bytes - octet_length(OLD.bytes) WHERE account_id = OLD.account_id;
	END IF;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "media_blobs_count" AFTER INSERT OR DELETE ON "media_blobs" FOR EACH ROW EXECUTE FUNCTION "count_media_bytes"();
--> statement-breakpoint
INSERT INTO "media_usage" ("account_id", "bytes") SELECT "account_id", sum(octet_length("bytes")) FROM "media_blobs" GROUP BY "account_id";
