/** Flags that name what is paused or resumed. */
import type { Pause } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"

export const targetFlags = {
  fn: Argument.String("function").pipe(
    Argument.withDescription("project:ns/var, or ns/var with --project"),
    Argument.optional
  ),
  project: Flag.String("project").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("The whole project, or the project of the function: its id or its name"),
    Flag.optional
  ),
  all: switchFlag("all", "The whole environment")
}

interface Target {
  readonly fn: Option.Option<string>
  readonly project: Option.Option<string>
  readonly all: boolean
}

/** Returns the fields of a request; fails unless exactly one target is named. */
export const readTarget = Effect.fnUntraced(function* ({ fn, project, all }: Target) {
  if (all === (Option.isSome(fn) || Option.isSome(project)))
    return yield* usageError("Name what to pause or resume", "give a function, --project or --all")
  return {
    ...(Option.isNone(fn) ? {} : { fn: fn.value }),
    ...(Option.isNone(project) ? {} : { project: project.value })
  }
})

/** Returns the name of what a pause covers. */
export const describeTarget = ({ project_name, ns, var: name }: Pause): string => {
  if (project_name === null) return "the environment"
  return ns === null ? `project ${project_name}` : `${project_name}:${ns}/${name}`
}

/** True if the pause is that of the target. */
export const isPauseOf = (
  pause: Pause,
  { fn, project }: { readonly fn?: string; readonly project?: string }
): boolean => {
  const [name = "", prefix] = fn === undefined ? [] : fn.split(":").reverse()
  const named = project ?? prefix
  const isSameProject =
    named === undefined ? pause.project_id === null : pause.project_id === named || pause.project_name === named
  return isSameProject && (fn === undefined ? pause.ns === null : `${pause.ns}/${pause.var}` === name)
}
