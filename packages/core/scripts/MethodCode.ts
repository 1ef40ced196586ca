/** Source text of methods, which isolates and the test kit share. */
import type { Parameter } from "../src/runtime/svc/GuestFace.ts"
import { type AnyDerivedOperation, returnsNothing } from "../src/runtime/svc/SvcMethods.ts"

/** A group of `svc`, or a method without one. */
export interface Group {
  /** The property of `svc`. */
  readonly name: string
  /** Operations by method; null if `name` is itself a method. */
  readonly methods: ReadonlyMap<string, AnyDerivedOperation> | null
  readonly operations: ReadonlyArray<AnyDerivedOperation>
}

/** Returns groups in the order of the table. */
export const groupsOf = (operations: ReadonlyArray<AnyDerivedOperation>): ReadonlyArray<Group> => {
  const groups = new Map<string, Map<string, AnyDerivedOperation> | AnyDerivedOperation>()
  for (const operation of operations) {
    const [name = "", method] = operation.name.split(".")
    const group = groups.get(name)
    if (method === undefined) groups.set(name, operation)
    else groups.set(name, group instanceof Map ? group.set(method, operation) : new Map([[method, operation]]))
  }
  return [...groups].map(([name, group]) =>
    group instanceof Map
      ? { name, methods: group, operations: [...group.values()] }
      : { name, methods: null, operations: [group] }
  )
}

export const parameterNames = ({ guest: { parameters } }: AnyDerivedOperation): ReadonlyArray<string> =>
  "object" in parameters ? [parameters.object] : parameters.map(({ name }) => name)

export const docComment = (text: string): string =>
  text.includes("\n") ? `/**\n * ${text.replaceAll("\n", "\n * ")}\n */` : `/** ${text} */`

/**
 * Returns the statements of an asynchronous method. They use `parse`, `stringify`, `toArguments` and `namedError` of their
 * module.
 *
 * @param call expression of the function that makes host calls
 */
export const bodyOf = (operation: AnyDerivedOperation, call: string): string => {
  const { name, guest } = operation
  const answer = `await ${call}(${JSON.stringify(name)}, ${payloadOf(guest.parameters)})`
  const end = returnsNothing(operation) ? answer : `return parse(${answer})`
  return [...checksOf(operation), end].join("\n")
}

const checksOf = ({ name, guest: { parameters, takes } }: AnyDerivedOperation): ReadonlyArray<string> => {
  const refusal = `throw namedError("BadRequest", ${JSON.stringify(`svc.${name} takes ${takes}`)})`
  if ("object" in parameters) {
    const { object } = parameters
    return [`if (typeof ${object} !== "object" || ${object} === null) {\n${refusal}\n}`]
  }
  const strings = parameters.filter(({ is }) => is === "string")
  return strings.map((parameter) => `if (typeof ${parameter.name} !== "string") {\n${refusal}\n}`)
}

const payloadOf = (parameters: AnyDerivedOperation["guest"]["parameters"]): string => {
  if ("object" in parameters) return `stringify(${parameters.object})`
  return parameters.length === 0 ? '"{}"' : `stringify({ ${parameters.map(fieldOf).join(", ")} })`
}

const fieldOf = ({ name, is }: Parameter): string => {
  switch (is) {
    case "string":
      return name
    case "value":
      return `${name}: ${name} ?? null`
    case "arguments":
      return `${name}: toArguments(${name})`
  }
}
