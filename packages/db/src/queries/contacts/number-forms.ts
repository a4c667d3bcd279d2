import type postgres from 'postgres'

/**
 * A number, and the other form in which WhatsApp may know it: some countries added a digit to mobile numbers, and
 * accounts exist in either form (isSameSubscriber in packages/shared). For `FROM …, LATERAL`.
 */
export function numberForms(sql: postgres.Sql, number: postgres.Fragment): postgres.Fragment {
  return sql`(VALUES (${number}), (CASE left(${number}, 2)
    WHEN '55' THEN CASE length(${number})
      WHEN 13 THEN regexp_replace(${number}, '^(55..)9', '\\1')
      WHEN 12 THEN regexp_replace(${number}, '^(55..)', '\\19')
    END
    WHEN '52' THEN CASE length(${number})
      WHEN 13 THEN regexp_replace(${number}, '^521', '52')
      WHEN 12 THEN regexp_replace(${number}, '^52', '521')
    END
    WHEN '54' THEN CASE length(${number})
      WHEN 13 THEN regexp_replace(${number}, '^549', '54')
      WHEN 12 THEN regexp_replace(${number}, '^54', '549')
    END
  END))`
}
