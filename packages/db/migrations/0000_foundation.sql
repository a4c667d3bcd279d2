CREATE TABLE "accounts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "accounts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"email" text NOT NULL,
	"password_hash" text NOT NULL,
	"role" text NOT NULL,
	"devices_allowed" integer NOT NULL,
	"expires_at" timestamp with time zone,
	"rate_per_minute" integer,
	"burst" integer,
	"daily_cap" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_email" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "api_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"account_id" integer NOT NULL,
	"name" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"last_four" text NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_keys_hash" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" integer,
	"key_id" integer,
	"operation" text NOT NULL,
	"target" text NOT NULL,
	"result" text NOT NULL,
	"ip" text,
	"request_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE FUNCTION "keep_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND OLD.created_at < now() - interval '1 day' THEN RETURN OLD; END IF;
	RAISE EXCEPTION 'The audit log is append-only';
END $$;
--> statement-breakpoint
CREATE TRIGGER "audit_log_keep" BEFORE UPDATE OR DELETE ON "audit_log" FOR EACH ROW EXECUTE FUNCTION "keep_audit_log"();
--> statement-breakpoint
CREATE TRIGGER "audit_log_keep_all" BEFORE TRUNCATE ON "audit_log" FOR EACH STATEMENT EXECUTE FUNCTION "keep_audit_log"();
--> statement-breakpoint
CREATE TABLE "device_auth" (
	"device_id" integer NOT NULL,
	"type" text NOT NULL,
	"id" text NOT NULL,
	"value" "bytea" NOT NULL,
	CONSTRAINT "device_auth_pk" PRIMARY KEY("device_id","type","id")
) WITH (fillfactor = 70);
--> statement-breakpoint
CREATE SEQUENCE "devices_id_seq" AS integer;
--> statement-breakpoint
CREATE TABLE "devices" (
	"id" integer PRIMARY KEY NOT NULL,
	"shard" integer NOT NULL,
	"account_id" integer NOT NULL,
	"sender" text NOT NULL,
	"name" text NOT NULL,
	"cms_id" text,
	"cms_ver" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone,
	"desired" text DEFAULT 'unlinked' NOT NULL,
	"desired_rev" integer DEFAULT 0 NOT NULL,
	"pairing_until" timestamp with time zone,
	"link_generation" integer DEFAULT 0 NOT NULL,
	"revoked_generation" integer DEFAULT 0 NOT NULL,
	"has_credentials" boolean DEFAULT false NOT NULL,
	"connection" text DEFAULT 'offline' NOT NULL,
	"offline_since" timestamp with time zone,
	"status_reason" text,
	"wa_jid" text,
	"wa_lid" text,
	"restricted_until" timestamp with time zone,
	"last_seen_at" timestamp with time zone,
	"rate_per_minute" integer,
	"burst" integer,
	"daily_cap" integer,
	CONSTRAINT "devices_desired" CHECK ("devices"."desired" IN ('unlinked', 'linked')),
	CONSTRAINT "devices_connection" CHECK ("devices"."connection" IN ('offline', 'connecting', 'scanning', 'online'))
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"account_id" integer NOT NULL,
	"operation" text NOT NULL,
	"key" text NOT NULL,
	"payload_hash" "bytea" NOT NULL,
	"message_id" uuid,
	"response" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_pk" PRIMARY KEY("account_id","operation","key")
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"shards" integer NOT NULL,
	CONSTRAINT "installation_one_row" CHECK ("installation"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "master_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"used_since" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "media_blobs" (
	"message_id" uuid PRIMARY KEY NOT NULL,
	"account_id" integer NOT NULL,
	"mime" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE SEQUENCE "messages_seq" AS bigint CACHE 1;
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" uuid NOT NULL,
	"seq" bigint DEFAULT nextval('messages_seq') NOT NULL,
	"account_id" integer NOT NULL,
	"device_id" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"direction" text NOT NULL,
	"type" text NOT NULL,
	"sender" text NOT NULL,
	"number" text NOT NULL,
	"body" text,
	"url" text,
	"filename" text,
	"status" text NOT NULL,
	"is_waiting" boolean GENERATED ALWAYS AS (status IN ('queued', 'sending')) STORED NOT NULL,
	"error_code" text,
	"error" text,
	"wa_id" text NOT NULL,
	"recipient_jid" text,
	"link_generation" integer NOT NULL,
	"send_at" timestamp with time zone,
	"sent_at" timestamp with time zone,
	"delivered_at" timestamp with time zone,
	"read_at" timestamp with time zone,
	"uploaded_content" "bytea",
	CONSTRAINT "messages_pk" PRIMARY KEY("id","created_at")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "shard_leases" (
	"shard" integer PRIMARY KEY NOT NULL,
	"owner" uuid,
	"epoch" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"capacity" integer NOT NULL,
	"master_key_id" text,
	"lease_until" timestamp with time zone NOT NULL,
	"renewed_at" timestamp with time zone DEFAULT now() NOT NULL,
	"session_pid" integer NOT NULL,
	"session_since" timestamp with time zone NOT NULL,
	"session_name" text NOT NULL,
	"renewed_since" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workers_state" CHECK ("workers"."state" IN ('live', 'draining', 'dead'))
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_auth" ADD CONSTRAINT "device_auth_device_id_devices_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."devices"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "devices" ADD CONSTRAINT "devices_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_account" ON "api_keys" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "devices_account_sender" ON "devices" USING btree ("account_id","sender") WHERE "devices"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX "audit_log_account" ON "audit_log" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_created_at" ON "audit_log" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "devices_shard" ON "devices" USING btree ("shard");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "media_blobs_created_at" ON "media_blobs" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "messages_history" ON "messages" USING btree ("account_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "messages_received" ON "messages" USING btree ("device_id","wa_id") WHERE "messages"."direction" = 'in';--> statement-breakpoint
CREATE INDEX "messages_sent" ON "messages" USING btree ("device_id","sent_at") WHERE "messages"."sent_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "messages_waiting" ON "messages" USING btree ("device_id","seq") WHERE "messages"."is_waiting";--> statement-breakpoint
CREATE INDEX "shard_leases_owner" ON "shard_leases" USING btree ("owner");--> statement-breakpoint
CREATE UNIQUE INDEX "workers_live_name" ON "workers" USING btree ("name") WHERE "workers"."state" <> 'dead';