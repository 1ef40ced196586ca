/** Events as functions get them, and catalogues of them. Types only. */
import type { InferInput, InferOutput, StandardSchemaV1 } from "./StandardSchema.ts"

export interface Event<Type extends string = string, Data = unknown> {
  readonly event_id: string
  readonly env_id: string
  readonly stream_id: string
  readonly event_type: Type
  readonly event_data: Data
  /** When it happened: ISO 8601, UTC. */
  readonly event_time: string
  /** When it was stored: ISO 8601, UTC. */
  readonly created_at: string
}

/** The types that a pattern means: itself, or with `*` at its end all that begin so. */
export type Matched<Pattern extends string> = Pattern extends `${infer Prefix}*` ? `${Prefix}${string}` : Pattern

/** The pattern itself, or what is wrong with it. */
export type CheckedPattern<Pattern extends string> = Pattern extends `svc:${string}`
  ? "must not start with svc:, which is reserved"
  : Pattern extends `${string}*${infer Rest}`
    ? Rest extends ""
      ? Pattern
      : "may have * at its end only"
    : Pattern

/** Schemas of `event_data` by event type. */
export type Catalogue = Readonly<Record<string, StandardSchemaV1>>

/** All event types, with any data that JSON can say. */
export type AnyEvents = Readonly<Record<string, StandardSchemaV1<NonNullable<unknown> | null, unknown>>>

/** The types of the catalogue that a pattern means. */
export type Known<C extends Catalogue, Pattern extends string> = {
  [Type in keyof C & string]: Type extends Matched<Pattern> ? Type : never
}[keyof C & string]

/** The pattern itself, or what is wrong with it. */
export type KnownPattern<C extends Catalogue, Pattern extends string> = Pattern extends unknown
  ? [Known<C, Pattern>] extends [never]
    ? "is no event of the catalogue"
    : CheckedPattern<Pattern>
  : never

/** A catalogue's events as they arrive, told apart by their types. */
export type EventsIn<C extends Catalogue, Pattern extends string> = {
  [Type in Known<C, Pattern>]: Event<Type, InferInput<C[Type]>>
}[Known<C, Pattern>]

/** The same once their data is checked. */
export type EventsOf<C extends Catalogue, Pattern extends string> = {
  [Type in Known<C, Pattern>]: Event<Type, InferOutput<C[Type]>>
}[Known<C, Pattern>]

/**
 * Names separated by dots that lead to a part of the data. Where its shape is not known, or deeper than four names,
 * any path is one.
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
