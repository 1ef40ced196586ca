/** The methods of a trusted function's `svc` that derive from the table of operations. */
import {
  type AnyDerivedOperation,
  derivedOperations,
  returnsNothing,
  type SvcMethods
} from "../runtime/svc/SvcMethods.ts"

type Method = (...args: ReadonlyArray<unknown>) => Promise<unknown>

type CallHost = (op: string, payload: unknown) => Promise<unknown>

/** Returns the methods. `callHost` makes a host call and returns its parsed result. */
export function trustedMethods(callHost: CallHost): SvcMethods
// The compiler cannot follow names through a loop. A test calls every method.
export function trustedMethods(callHost: CallHost): Readonly<Record<string, object>> {
  const svc: Record<string, Method | Record<string, Method>> = {}
  for (const operation of derivedOperations) {
    const method: Method = async (...args) => {
      const answer = await callHost(operation.name, toPayload(operation, args))
      return returnsNothing(operation) ? undefined : answer
    }
    const [group = "", name] = operation.name.split(".")
    svc[group] = name === undefined ? method : { ...svc[group], [name]: method }
  }
  return svc
}

const toPayload = (
  { name, guest: { parameters, takes } }: AnyDerivedOperation,
  args: ReadonlyArray<unknown>
): unknown => {
  const refuse = (): never => {
    throw Object.assign(new Error(`svc.${name} takes ${takes}`), { name: "BadRequest" })
  }
  const [first] = args
  if ("object" in parameters) return typeof first === "object" && first !== null ? first : refuse()
  return Object.fromEntries(
    parameters.map(({ name: field, is }, index) => {
      const value = args[index]
      if (is === "arguments") return [field, value === undefined ? [] : Array.isArray(value) ? value : [value]]
      if (is === "value") return [field, value ?? null]
      return [field, typeof value === "string" ? value : refuse()]
    })
  )
}
