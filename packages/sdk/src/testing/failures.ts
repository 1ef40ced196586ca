/** Errors with the names of the runtime. */

export const namedError = (name: string, message: string): Error => Object.assign(new Error(message), { name })

/** Description of an error in a failed run. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack: string
}

export const toFailure = (thrown: unknown): Failure => {
  if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: String(thrown), stack: "" }
  const { name, message, stack }: { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown } =
    thrown
  return { name: toText(name, "Error"), message: toText(message, ""), stack: toText(stack, "") }
}

const toText = (value: unknown, absent: string): string => (value === undefined ? absent : String(value))
