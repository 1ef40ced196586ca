/** Errors by name, as the runtime names them. */

export const namedError = (name: string, message: string): Error => Object.assign(new Error(message), { name })

/** What a failed run says of what was thrown. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack: string
}

export const failureOf = (thrown: unknown): Failure => {
  if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: String(thrown), stack: "" }
  const { name, message, stack }: { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown } =
    thrown
  return { name: textOf(name, "Error"), message: textOf(message, ""), stack: textOf(stack, "") }
}

const textOf = (value: unknown, absent: string): string => (value === undefined ? absent : String(value))
