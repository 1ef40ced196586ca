/**
 * Fields that records have gained since the previous release. Tests that let both releases use the same records add or
 * remove them. Empty the lists whenever a new release is stored as the previous one (`npm run keep-previous`).
 */
import { Context, Effect, Layer } from "effect"

interface Gained {
  /** Fields by which a record of this kind is recognized. */
  readonly by: ReadonlyArray<string>
  /** New fields, with the values of records of the previous release. */
  readonly fields: Readonly<Record<string, unknown>>
  /** New optional fields, which records of the previous release do not have. */
  readonly optional?: ReadonlyArray<string>
}

const gained: ReadonlyArray<Gained> = [
  { by: ["run_id", "heap_bytes"], fields: { activations: null, waiting: null, steps: null, event_ids: null } },
  {
    by: ["delivery_id", "retry"],
    fields: { depth: 0, durable: false, continues: null, held_since: null },
    optional: ["cancel_key", "recording", "batch"]
  },
  { by: ["delivery", "onceKey"], fields: { rules: [] } },
  { by: ["schedule_id", "next_at"], fields: { depth: 0 } },
  { by: ["file_id", "etag"], fields: { checksum: null } },
  // Functions and handlers of a manifest.
  { by: ["ns", "var", "retry"], fields: { durable: false }, optional: ["recording", "retention_ms"] },
  { by: ["ns", "var", "service", "timeout_ms"], fields: { record: "before" }, optional: ["recording"] },
  {
    by: ["functions", "handlers", "schedules", "endpoints", "tools"],
    fields: { resources: [], prompts: [] },
    optional: ["uses"]
  }
]

const gainedBy = (record: object): ReadonlyArray<Gained> =>
  gained.filter(({ by }) => by.every((name) => name in record))

/** Returns the value with records of the previous release completed. */
export const toCurrentRecords = (value: unknown): unknown =>
  mapRecords(value, (record) => Object.assign({}, ...gainedBy(record).map(({ fields }) => fields), record))

/** Returns the value with records as the previous release has them. */
export const toFormerRecords = (value: unknown): unknown =>
  mapRecords(value, (record) => {
    const isNew = (name: string) =>
      gainedBy(record).some(({ fields, optional = [] }) => name in fields || optional.includes(name))
    return Object.fromEntries(Object.entries(record).filter(([name]) => !isNew(name)))
  })

/** Maps all plain objects within a value, the inner ones first. */
const mapRecords = (value: unknown, map: (record: object) => object): unknown => {
  if (Array.isArray(value)) return value.map((each) => mapRecords(each, map))
  if (typeof value !== "object" || value === null || !isPlain(value)) return value
  return map(Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapRecords(field, map)])))
}

/** True for plain objects, and for rows of SQLite, which have no prototype. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns a method or query whose results have the records of the previous release. */
export const withFormerRecords = (member: unknown): unknown => {
  if (typeof member === "function") {
    return (...args: ReadonlyArray<unknown>) => withFormerRecords(Reflect.apply(member, undefined, args))
  }
  return Effect.isEffect(member) ? Effect.map(member, toFormerRecords) : member
}

/**
 * Returns the layer of stores of the previous release with results as its contracts expect them. Its statements select all
 * columns of some tables, so its records have new ones.
 */
export const layerWithFormerRecords = <Services, E, R>(
  layer: Layer.Layer<Services, E, R>
): Layer.Layer<Services, E, R> =>
  Layer.effectContext(
    Effect.map(Layer.build(layer), (context) => {
      const services = [...context.mapUnsafe].map(([key, service]): readonly [string, unknown] => [
        key,
        typeof service === "object" && service !== null
          ? new Proxy(service, { get: (target, name) => withFormerRecords(Reflect.get(target, name)) })
          : service
      ])
      return Context.makeUnsafe<Services>(new Map(services))
    })
  )
