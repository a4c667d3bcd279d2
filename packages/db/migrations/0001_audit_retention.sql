ALTER TABLE "installation" ADD COLUMN "retention_days" integer DEFAULT 365 NOT NULL;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "keep_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' THEN
		IF OLD.created_at < now() - (SELECT retention_days FROM installation) * interval '1 day' THEN RETURN OLD; END IF;
	END IF;
	RAISE EXCEPTION 'The audit log is append-only';
END $$;
