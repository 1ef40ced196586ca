/** Events, and catalogues of events. Types only. */
import type { InferInput, InferOutput, StandardSchemaV1 } from "./StandardSchema.ts"

export interface Event<Type extends string = string, Data = unknown> {
  readonly event_id: string
  readonly env_id: string
  readonly stream_id: string
  readonly event_type: Type
  readonly event_data: Data
  /** Time of the event, ISO 8601, UTC. */
  readonly event_time: string
  /** Time of storage, ISO 8601, UTC. */
  readonly created_at: string
}

/** Event types that a pattern matches: the pattern itself or, with `*` at its end, all types with that prefix. */
export type Matched<Pattern extends string> = Pattern extends `${infer Prefix}*` ? `${Prefix}${string}` : Pattern

/** The pattern itself, or an error message. */
export type CheckedPattern<Pattern extends string> = Pattern extends
  | "svc:run:failed"
  | "svc:alert:fired"
  | "svc:alert:resolved"
  ? Pattern
  : Pattern extends `svc:${string}`
    ? "must not start with svc:, which is reserved, except svc:run:failed and svc:alert:…"
    : Pattern extends `${string}*${infer Rest}`
      ? Rest extends ""
        ? Pattern
        : "may have * at its end only"
      : Pattern

/** Schemas of `event_data` by event type. */
export type Catalogue = Readonly<Record<string, StandardSchemaV1>>

/** All event types, with any JSON data. */
export type AnyEvents = Readonly<Record<string, StandardSchemaV1<NonNullable<unknown> | null, unknown>>>

/** Event types of the catalogue that a pattern matches. */
export type Known<C extends Catalogue, Pattern extends string> = {
  [Type in keyof C & string]: Type extends Matched<Pattern> ? Type : never
}[keyof C & string]

/** The pattern itself, or an error message. */
export type KnownPattern<C extends Catalogue, Pattern extends string> = Pattern extends unknown
  ? [Known<C, Pattern>] extends [never]
    ? "is not an event of the catalogue"
    : CheckedPattern<Pattern>
  : never

/** Events of a catalogue before validation, discriminated by type. */
export type EventsIn<C extends Catalogue, Pattern extends string> = {
  [Type in Known<C, Pattern>]: Event<Type, InferInput<C[Type]>>
}[Known<C, Pattern>]

/** Events of a catalogue after validation. */
export type EventsOf<C extends Catalogue, Pattern extends string> = {
  [Type in Known<C, Pattern>]: Event<Type, InferOutput<C[Type]>>
}[Known<C, Pattern>]

/**
 * Paths to parts of the data: names separated by dots. Any path is allowed if the shape is unknown, or below four
 * names.
 */
export type PathOf<Data, Depth extends ReadonlyArray<unknown> = []> = Depth["length"] extends 4
  ? string
  : unknown extends Data
    ? string
    : Data extends ReadonlyArray<infer Item>
      ? Below<`${number}`, Item, Depth>
      : Data extends object
        ? { [Name in keyof Data & string]-?: Below<Name, Data[Name], Depth> }[keyof Data & string]
        : never

type Below<Name extends string, Data, Depth extends ReadonlyArray<unknown>> =
  | Name
  | `${Name}.${PathOf<NonNullable<Data>, [...Depth, unknown]>}`
