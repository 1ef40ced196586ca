/** Makes a build the canary of its project. */
import { useQueryClient } from "@tanstack/solid-query"
import type { Build, DeployInput } from "@weft/client"
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { NumberField } from "../design/NumberField.tsx"
import { curlCommand } from "../design/shellCommand.ts"
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
      <ShareFields draft={draft()} onChange={change} />
      <RuleFields draft={draft()} onChange={change} />
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

interface FieldsProps {
  readonly draft: Draft
  readonly onChange: (change: Partial<Draft>) => void
}

const ShareFields = (props: FieldsProps): JSX.Element => (
  <>
    <div class="form-grid">
      <NumberField
        label={t().canary.percent}
        min={0}
        max={100}
        step="any"
        value={props.draft.percent}
        onInput={(percent) => props.onChange({ percent })}
      />
      <NumberField
        label={t().canary.window}
        min={1}
        max={43_200}
        value={props.draft.window}
        onInput={(window) => props.onChange({ window })}
      />
    </div>
    <div class="form-hint">
      <TextField
        label={t().canary.key}
        placeholder="event.data.customer"
        value={props.draft.key}
        onInput={(key) => props.onChange({ key })}
      />
      <p class="muted small">{t().canary.keyHint}</p>
    </div>
  </>
)

const RuleFields = (props: FieldsProps): JSX.Element => (
  <fieldset class="options">
    <legend class="legend-text">{t().canary.rulesField}</legend>
    <div class="form-grid">
      <NumberField
        label={t().canary.overBaseField}
        min={0}
        max={99}
        step="any"
        isOptional
        value={props.draft.overBase}
        onInput={(overBase) => props.onChange({ overBase })}
      />
      <NumberField
        label={t().canary.maxShareField}
        min={0}
        max={99}
        step="any"
        isOptional
        value={props.draft.maxShare}
        onInput={(maxShare) => props.onChange({ maxShare })}
      />
      <NumberField
        label={t().canary.maxRatioField}
        min={1}
        max={1000}
        step="any"
        isOptional
        value={props.draft.maxRatio}
        onInput={(maxRatio) => props.onChange({ maxRatio })}
      />
      <NumberField
        label={t().canary.minRuns}
        min={1}
        value={props.draft.minRuns}
        onInput={(minRuns) => props.onChange({ minRuns })}
      />
    </div>
  </fieldset>
)
