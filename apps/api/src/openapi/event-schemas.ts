import { type EventType, eventTypeNames } from '@wagate/shared/event-types'
import { eventKinds } from '@wagate/shared/objects/event-kinds'
import { eventSchemaOf, exampleEventOf } from '@wagate/shared/objects/event-object'
import { type JsonSchema, toJsonSchema } from './json-schemas.ts'

export function eventSchema(type: EventType): JsonSchema {
  return toJsonSchema(eventSchemaOf(type), 'output')
}

/** docs/events/<type>.json: the JSON Schema of an event of each type, by the name of its file. */
export function makeEventSchemas(): Map<string, string> {
  return new Map(
    eventTypeNames.map((type) => {
      const schema = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: type,
        description: eventKinds[type].when,
        ...eventSchema(type),
        examples: [exampleEventOf(type)],
      }
      return [`${type}.json`, `${JSON.stringify(schema, null, 2)}\n`]
    }),
  )
}
