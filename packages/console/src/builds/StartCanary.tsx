/** Makes a build the canary of its project. */
import { useQueryClient } from "@tanstack/solid-query"
import type { Build, DeployInput } from "@weft/client"
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { curlCommand } from "../design/shellCommand.ts"
import { Confirm } from "../design/Confirm.tsx"
import { NumberField } from "../design/NumberField.tsx"
import { TextField } from "../design/TextField.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"

/** Texts of inputs, so that a person can leave one empty while typing. */
const initial = {
  ...{ percent: "10", key: "", window: "10", minRuns: "20" },
  ...{ overBase: "5", maxShare: "", maxRatio: "" },
  ...{ isAuto: true, isReplacing: false }
}

type Draft = typeof initial

const toShare = (percent: string): number => Number((Number(percent) / 100).toFixed(8))

const toDeployInput = (draft: Draft): DeployInput => ({
  canary: {
    share: toShare(draft.percent),
    ...(draft.key.trim() === "" ? {} : { key: draft.key.trim() }),
    window: `${draft.window}m`,
    min_runs: Number(draft.minRuns),
    ...(draft.overBase === "" ? {} : { max_failure_share_over_base: toShare(draft.overBase) }),
    ...(draft.maxShare === "" ? {} : { max_failure_share: toShare(draft.maxShare) }),
    ...(draft.maxRatio === "" ? {} : { max_latency_ratio: Number(draft.maxRatio) }),
    promote: draft.isAuto ? "auto" : "manual"
  },
  ...(draft.isReplacing ? { replace: true } : {})
})

export const StartCanary = (props: {
  readonly project: string
  readonly build: Build
  readonly onClose: () => void
}): JSX.Element => {
  const client = useQueryClient()
  const [draft, setDraft] = createSignal(initial)
  const change = (changed: Partial<Draft>) => setDraft({ ...draft(), ...changed })
  const start = async () => {
    await weft.builds.deploy(props.project, props.build.build_id, toDeployInput(draft()))
    showToast(t().canary.started)
    await client.invalidateQueries({ queryKey: ["canary"] })
    await client.invalidateQueries({ queryKey: ["builds"] })
  }
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={t().canary.startTitle}
      text={t().canary.intro}
      action={t().canary.start}
      command={curlCommand(
        "POST",
        `/projects/${props.project}/builds/${props.build.build_id}/deploy`,
        toDeployInput(draft())
      )}
      onConfirm={start}
    >
      <p class="mono small">{props.build.build_id}</p>
      <div class="form-grid">
        <NumberField
          label={t().canary.percent}
          min={0}
          max={100}
          step="any"
          value={draft().percent}
          onInput={(percent) => change({ percent })}
        />
        <NumberField
          label={t().canary.window}
          min={1}
          max={43_200}
          value={draft().window}
          onInput={(window) => change({ window })}
        />
      </div>
      <div class="form-hint">
        <TextField
          label={t().canary.key}
          placeholder="event.data.customer"
          value={draft().key}
          onInput={(key) => change({ key })}
        />
        <p class="muted small">{t().canary.keyHint}</p>
      </div>
      <fieldset class="options">
        <legend class="legend-text">{t().canary.rulesField}</legend>
        <div class="form-grid">
          <NumberField
            label={t().canary.overBaseField}
            {...{ min: 0, max: 99, step: "any", isOptional: true } as const}
            value={draft().overBase}
            onInput={(overBase) => change({ overBase })}
          />
          <NumberField
            label={t().canary.maxShareField}
            {...{ min: 0, max: 99, step: "any", isOptional: true } as const}
            value={draft().maxShare}
            onInput={(maxShare) => change({ maxShare })}
          />
          <NumberField
            label={t().canary.maxRatioField}
            {...{ min: 1, max: 1000, step: "any", isOptional: true } as const}
            value={draft().maxRatio}
            onInput={(maxRatio) => change({ maxRatio })}
          />
          <NumberField
            label={t().canary.minRuns}
            min={1}
            value={draft().minRuns}
            onInput={(minRuns) => change({ minRuns })}
          />
        </div>
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={draft().isAuto}
          onChange={(event) => change({ isAuto: event.currentTarget.checked })}
        />
        {t().canary.autoField}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={draft().isReplacing}
          onChange={(event) => change({ isReplacing: event.currentTarget.checked })}
        />
        {t().canary.replace}
      </label>
    </Confirm>
  )
}
