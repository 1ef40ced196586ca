/** The build of a replay: the deployed one, or that of the run. */
import type { JSX } from "solid-js"
import { t } from "../text/Language.ts"

export type ReplayBuild = "same" | "deployed"

export const BuildChoice = (props: {
  readonly value: ReplayBuild
  readonly onChange: (build: ReplayBuild) => void
  /** Label of the build of the run. */
  readonly same: string
}): JSX.Element => (
  <fieldset class="options">
    <legend class="visually-hidden">{t().run.build}</legend>
    <label class="check">
      <input
        type="radio"
        name="build"
        checked={props.value === "deployed"}
        onChange={() => props.onChange("deployed")}
      />
      {t().run.replayDeployed}
    </label>
    <label class="check">
      <input type="radio" name="build" checked={props.value === "same"} onChange={() => props.onChange("same")} />
      {props.same}
    </label>
  </fieldset>
)
