/** Who may store at a path: `create` is for a path that has no file, `update` for one that has. */
import { Effect } from "effect"
import { Caller, forbidden, type Identity } from "../access/Caller.ts"
import { allows } from "../access/Permission.ts"
import type { Forbidden } from "../errors/Errors.ts"
import type { File } from "./File.ts"
import type { Stored, StoreTerms } from "./FileStore.ts"

export type StoreRights = Pick<StoreTerms, "mayCreate" | "mayReplace">

export const rightsOn = (caller: Identity, path: string): StoreRights => ({
  mayCreate: allows(caller.permissions, "file", path, "create"),
  mayReplace: allows(caller.permissions, "file", path, "update")
})

export const hasAny = ({ mayCreate, mayReplace }: StoreRights): boolean => mayCreate || mayReplace

/** The current caller and its rights on the path, of which it must have one. */
export const requireRights = (
  path: string
): Effect.Effect<{ readonly caller: Identity; readonly rights: StoreRights }, Forbidden, Caller> =>
  Effect.flatMap(Caller, (caller) => {
    const rights = rightsOn(caller, path)
    return hasAny(rights) ? Effect.succeed({ caller, rights }) : Effect.fail(forbidden("file", path, "create"))
  })

/** Fails unless the rights suffice for a path that has this file, or none. */
export const requireRightTo = (
  { mayCreate, mayReplace }: StoreRights,
  path: string,
  old: File | null
): Effect.Effect<void, Forbidden> =>
  (old === null ? mayCreate : mayReplace) ? Effect.void : Effect.fail(lacking(path, old === null))

/** The error of a store that was not given the right. */
export const rightRefused = (
  path: string,
  { _tag }: Extract<Stored, { readonly _tag: "MayNotCreate" | "MayNotReplace" }>
): Forbidden => lacking(path, _tag === "MayNotCreate")

const lacking = (path: string, isNew: boolean): Forbidden => forbidden("file", path, isNew ? "create" : "update")
