/** The functions of a module, by their reference names. */
import type { AnyFunction } from "../Svc.ts"

/** A module namespace: functions, and objects of functions as further namespaces. */
export type Project = Readonly<Record<string, unknown>>

export const listFunctions = (project: Project): ReadonlyMap<string, AnyFunction> =>
  new Map(
    Object.entries(project).flatMap(([name, value]) =>
      isFunction(value)
        ? [[`main/${name}`, value] as const]
        : Object.entries(value ?? {}).flatMap(([inner, member]) =>
            isFunction(member) ? [[`${name}/${inner}`, member] as const] : []
          )
    )
  )

const isFunction = (value: unknown): value is AnyFunction => typeof value === "function"
