/** The functions of the host. Types only. */

/**
 * What the host offers, by name. A host declares it for those who write functions for it:
 *
 *     declare module "@weft/sdk" {
 *       interface HostFunctions {
 *         "crm.lookup"(input: { id: string }): { name: string } | null
 *       }
 *     }
 *
 * and they call `await svc.host.crm.lookup({ id })`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is there to be added to
export interface HostFunctions {}

/** `svc.host` of a host that offers these: the dots of their names lead to them. */
export type HostFace<Functions> = {
  readonly [Head in HeadOf<keyof Functions & string>]: (Head extends keyof Functions
    ? Called<Functions[Head]>
    : unknown) &
    HostFace<Below<Functions, Head>>
}

type HeadOf<Name extends string> = Name extends `${infer Head}.${string}` ? Head : Name

type Below<Functions, Head extends string> = {
  [Name in keyof Functions & string as Name extends `${Head}.${infer Rest}` ? Rest : never]: Functions[Name]
}

type Called<Fn> = Fn extends (...input: infer Input) => infer Output
  ? (...input: Input) => Promise<Awaited<Output>>
  : never

/** Stand in for functions of the host. */
export type HostFakes<Functions = HostFunctions> = {
  readonly [Name in keyof Functions]?: Functions[Name] extends (...input: infer Input) => infer Output
    ? (...input: Input) => Output | Promise<Awaited<Output>>
    : never
}
