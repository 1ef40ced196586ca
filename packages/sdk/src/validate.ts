/** The only checks that run in the sandbox: those of the author's own schemas. */
import type { InferOutput, Issue, StandardSchemaV1, Validation } from "./StandardSchema.ts"

/** Data is not as its schema says. */
export interface Invalid extends Error {
  readonly name: "Invalid"
  readonly issues: ReadonlyArray<Issue>
}

/** What the schema makes of the value. Rejects with `Invalid`, whose message begins with `what` the value is. */
export function validate<S extends StandardSchemaV1>(
  schema: S | undefined,
  value: unknown,
  what: string
): Promise<InferOutput<S>>
export async function validate(schema: StandardSchemaV1 | undefined, value: unknown, what: string): Promise<unknown> {
  if (schema === undefined) return value
  const checked = await attempt(schema, value)
  if (checked.issues === undefined) return checked.value
  const error: Invalid = Object.assign(new Error(`${what} is not as expected: ${textOf(checked.issues)}`), {
    name: "Invalid" as const,
    issues: checked.issues
  })
  throw error
}

/** The same, where what is wrong is an answer. */
export function attempt<S extends StandardSchemaV1>(
  schema: S | undefined,
  value: unknown
): Promise<Validation<InferOutput<S>>>
export async function attempt(schema: StandardSchemaV1 | undefined, value: unknown): Promise<Validation<unknown>> {
  return schema === undefined ? { value } : schema["~standard"].validate(value)
}

export const textOf = (issues: ReadonlyArray<Issue>): string =>
  issues.map(({ path, message }) => (path?.length ? `${nameOf(path)}: ${message}` : message)).join("; ")

/** `items.0.sku` */
const nameOf = (path: NonNullable<Issue["path"]>): string =>
  path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
