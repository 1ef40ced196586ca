/** The dialog that creates or changes an alert rule. */
import type { Alert, AlertWithSecret } from "@weft/client"
import { createSignal, For, type JSX, Match, Show, Switch } from "solid-js"
import { weft } from "../api/client.ts"
import { ProjectField } from "../builds/ProjectField.tsx"
import { Confirm } from "../design/Confirm.tsx"
import { NumberField } from "../design/NumberField.tsx"
import { Options } from "../design/Options.tsx"
import { curlCommand } from "../design/shellCommand.ts"
import { TextField } from "../design/TextField.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import {
  type AlertDraft,
  conditionKinds,
  createCommand,
  emptyDraft,
  latencies,
  percentiles,
  scopes,
  toChange,
  toDraft,
  toInput
} from "./AlertDraft.ts"

interface FieldsProps {
  readonly draft: AlertDraft
  readonly onChange: (change: Partial<AlertDraft>) => void
}

export const AlertForm = (props: {
  /** The rule to change; null to create one. */
  readonly edited: Alert | null
  readonly onClose: () => void
  readonly onSaved: (alert: AlertWithSecret) => void
}): JSX.Element => {
  const { edited } = props
  const [draft, setDraft] = createSignal(edited === null ? emptyDraft : toDraft(edited))
  const change = (changed: Partial<AlertDraft>) => setDraft({ ...draft(), ...changed })
  const save = async () => {
    if (toChange(draft()).actions.length === 0) throw new Error(t().alerts.noAction)
    const saved =
      edited === null
        ? await weft.alerts.create(toInput(draft()))
        : await weft.alerts.update(edited.alert_id, toChange(draft()))
    showToast(edited === null ? t().alerts.created : t().alerts.saved)
    props.onSaved(saved)
  }
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={edited === null ? t().alerts.create : t().alerts.editTitle}
      text={edited === null ? t().alerts.createText : t().alerts.editText}
      action={edited === null ? t().alerts.create : t().alerts.save}
      command={
        edited === null ? createCommand(draft()) : curlCommand("PATCH", `/alerts/${edited.alert_id}`, toChange(draft()))
      }
      onConfirm={save}
    >
      <label class="field">
        <span>{t().alerts.name}</span>
        <input
          class="input"
          required
          maxlength={100}
          placeholder={t().alerts.namePlaceholder}
          value={draft().name}
          onInput={(event) => change({ name: event.currentTarget.value })}
        />
      </label>
      <Show when={edited === null}>
        <ScopeFields draft={draft()} onChange={change} />
      </Show>
      <Options
        label={t().alerts.kind}
        values={conditionKinds}
        value={draft().kind}
        nameOf={(kind) => t().alerts.kinds[kind]}
        onChange={(kind) => change({ kind })}
      />
      <ConditionFields draft={draft()} onChange={change} />
      <NumberField
        label={t().alerts.held}
        min={0}
        max={1440}
        value={draft().heldMinutes}
        onInput={(heldMinutes) => change({ heldMinutes })}
      />
      <ActionFields draft={draft()} onChange={change} />
    </Confirm>
  )
}

const ScopeFields = (props: FieldsProps): JSX.Element => (
  <>
    <Options
      label={t().alerts.scope}
      values={scopes}
      value={props.draft.scope}
      nameOf={(scope) => t().alerts.scopes[scope]}
      onChange={(scope) => props.onChange({ scope })}
    />
    <Show when={props.draft.scope !== "environment"}>
      <ProjectField value={props.draft.project} onInput={(project) => props.onChange({ project })} />
    </Show>
    <Show when={props.draft.scope === "function"}>
      <TextField
        label={t().waiting.function}
        placeholder="orders/confirm"
        isRequired
        value={props.draft.fn}
        onInput={(fn) => props.onChange({ fn })}
      />
    </Show>
  </>
)

const ConditionFields = (props: FieldsProps): JSX.Element => (
  <div class="form-grid">
    <Switch>
      <Match when={props.draft.kind === "failure_share"}>
        <NumberField
          label={t().alerts.share}
          min={0}
          max={100}
          step="any"
          value={props.draft.percent}
          onInput={(percent) => props.onChange({ percent })}
        />
        <WindowFields {...props} />
      </Match>
      <Match when={props.draft.kind === "latency"}>
        <Options
          label={t().alerts.latencyOf}
          values={latencies}
          value={props.draft.of}
          nameOf={(of) => t().alerts.latencies[of]}
          onChange={(of) => props.onChange({ of })}
        />
        <Options
          label={t().alerts.percentile}
          values={percentiles}
          value={props.draft.percentile}
          nameOf={(percentile) => `p${percentile}`}
          onChange={(percentile) => props.onChange({ percentile })}
        />
        <NumberField
          label={t().alerts.overMs}
          min={1}
          value={props.draft.overMs}
          onInput={(overMs) => props.onChange({ overMs })}
        />
        <WindowFields {...props} />
      </Match>
      <Match when={props.draft.kind === "backlog"}>
        <NumberField
          label={t().alerts.deliveries}
          min={0}
          isOptional
          value={props.draft.deliveries}
          onInput={(deliveries) => props.onChange({ deliveries })}
        />
        <NumberField
          label={t().alerts.oldest}
          min={1}
          isOptional
          value={props.draft.oldestSeconds}
          onInput={(oldestSeconds) => props.onChange({ oldestSeconds })}
        />
        <p class="muted small">{t().alerts.backlogHint}</p>
      </Match>
      <Match when={props.draft.kind === "silence"}>
        <NumberField
          label={t().alerts.silence}
          min={2}
          max={10_080}
          value={props.draft.silenceMinutes}
          onInput={(silenceMinutes) => props.onChange({ silenceMinutes })}
        />
      </Match>
    </Switch>
  </div>
)

const WindowFields = (props: FieldsProps): JSX.Element => (
  <>
    <NumberField
      label={t().alerts.minRuns}
      min={1}
      value={props.draft.minRuns}
      onInput={(minRuns) => props.onChange({ minRuns })}
    />
    <NumberField
      label={t().alerts.window}
      min={1}
      max={60}
      value={props.draft.windowMinutes}
      onInput={(windowMinutes) => props.onChange({ windowMinutes })}
    />
  </>
)

const ActionFields = (props: FieldsProps): JSX.Element => (
  <fieldset class="options">
    <legend class="legend-text">{t().alerts.actions}</legend>
    <label class="field">
      <span>{t().alerts.webhooks}</span>
      <textarea
        class="input short"
        rows={2}
        spellcheck={false}
        placeholder="https://hooks.example.com/weft"
        value={props.draft.webhooks}
        onInput={(event) => props.onChange({ webhooks: event.currentTarget.value })}
      />
    </label>
    <For each={["event", "hook"] as const}>
      {(name) => (
        <label class="check">
          <input
            type="checkbox"
            checked={props.draft[name]}
            onChange={({ currentTarget: { checked } }) =>
              props.onChange(name === "event" ? { event: checked } : { hook: checked })
            }
          />
          {t().alerts[name]}
        </label>
      )}
    </For>
  </fieldset>
)
