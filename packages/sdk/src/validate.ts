/** Validation with the author's schemas, the only validation that runs in the sandbox. */
import type { InferOutput, Issue, StandardSchemaV1, Validation } from "./StandardSchema.ts"

/** Error for data that does not match its schema. */
export interface Invalid extends Error {
  readonly name: "Invalid"
  readonly issues: ReadonlyArray<Issue>
}

/** Returns the schema's output for the value. Rejects with `Invalid`; its message begins with `what`. */
export function validate<S extends StandardSchemaV1>(
  schema: S | undefined,
  value: unknown,
  what: string
): Promise<InferOutput<S>>
export async function validate(schema: StandardSchemaV1 | undefined, value: unknown, what: string): Promise<unknown> {
  if (schema === undefined) return value
  const checked = await attempt(schema, value)
  if (checked.issues === undefined) return checked.value
  const error: Invalid = Object.assign(new Error(`${what} is not as expected: ${formatIssues(checked.issues)}`), {
    name: "Invalid" as const,
    issues: checked.issues
  })
  throw error
}

/** Validates a value and returns the result with its issues. */
export function attempt<S extends StandardSchemaV1>(
  schema: S | undefined,
  value: unknown
): Promise<Validation<InferOutput<S>>>
export async function attempt(schema: StandardSchemaV1 | undefined, value: unknown): Promise<Validation<unknown>> {
  return schema === undefined ? { value } : schema["~standard"].validate(value)
}

export const formatIssues = (issues: ReadonlyArray<Issue>): string =>
  issues.map(({ path, message }) => (path?.length ? `${formatPath(path)}: ${message}` : message)).join("; ")

/** Formats a path, for example `items.0.sku`. */
const formatPath = (path: NonNullable<Issue["path"]>): string =>
  path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
