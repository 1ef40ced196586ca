/** Runs and deploys the source in the editor. */
import { useQueryClient } from "@tanstack/solid-query"
import type { Json } from "@weft/client"
import { createEffect, createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { useProjectBuilds } from "../builds/useBuilds.ts"
import { Confirm } from "../design/Confirm.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import { startTestRun, type TestRun } from "./testRun.ts"

interface ActionProps {
  readonly project: string
  readonly exists: boolean
  readonly source: string
  readonly input: string
  readonly onRun: (run: TestRun) => void
}

/** The exported functions of the source, and the chosen one. */
const useFunctions = (source: () => string) => {
  const [functions, setFunctions] = createSignal<ReadonlyArray<string>>([])
  const [fn, setFn] = createSignal("")
  createEffect(() => {
    const text = source()
    void import("./functionsOf.ts").then(({ functionsOf }) => {
      const found = functionsOf(text)
      setFunctions(found)
      if (!found.includes(fn())) setFn(found[0] ?? "")
    })
  })
  return { functions, fn, setFn }
}

/** Actions that upload the source. `isLive` is true while a live build replaces the deployed one. */
const useUploads = (props: ActionProps) => {
  const client = useQueryClient()
  const builds = useProjectBuilds(() => (props.exists ? props.project : ""))
  const isLive = () => builds.data?.active != null && builds.data.active.build_id !== builds.data.deployed?.build_id
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["builds"] }),
      props.exists ? undefined : client.invalidateQueries({ queryKey: ["projects"] })
    ])
  const upload = async (isTest: boolean) => {
    const zip = await compileSource(props.source, isTest)
    if (!props.exists) await weft.projects.create({ name: props.project })
    return weft.builds.upload(props.project, zip)
  }
  const deploy = async () => {
    const { build_id } = await upload(false)
    await weft.builds.deploy(props.project, build_id)
    if (isLive()) await weft.builds.endLive(props.project)
    await refresh()
    showToast(t().editor.deployed)
  }
  const endLive = () => weft.builds.endLive(props.project).then(refresh)
  return { isLive, refresh, upload, deploy, endLive }
}

export const EditorActions = (props: ActionProps): JSX.Element => {
  const { functions, fn, setFn } = useFunctions(() => props.source)
  const { isLive, refresh, upload, deploy, endLive } = useUploads(props)
  const [error, setError] = createSignal<unknown>()
  const [isBusy, setBusy] = createSignal(false)
  const [isDeploying, setDeploying] = createSignal(false)
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const input = parseInput(props.input)
      const { build_id } = await upload(true)
      const manifest = await weft.builds.manifest(props.project, build_id)
      const target = { project: props.project, fn: fn(), input, manifest }
      await refresh()
      props.onRun(await startTestRun(target))
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Show when={isLive()}>
        <span class="badge running">{t().editor.liveNow}</span>
        <button type="button" class="button" onClick={() => void endLive()}>
          {t().editor.endLive}
        </button>
      </Show>
      <label class="inline-field">
        <span>{t().editor.function}</span>
        <select class="input mono" onChange={(event) => setFn(event.currentTarget.value)}>
          <For each={functions()} fallback={<option value="">{t().editor.noFunctions}</option>}>
            {(name) => (
              <option value={name} selected={name === fn()}>
                {name}
              </option>
            )}
          </For>
        </select>
      </label>
      <button
        type="button"
        class="button"
        disabled={isBusy() || fn() === ""}
        title={t().editor.runText}
        onClick={() => void run()}
      >
        <Icon name="runs" />
        {isBusy() ? t().editor.running : t().editor.run}
      </button>
      <button type="button" class="button primary" onClick={() => setDeploying(true)}>
        <Icon name="upload" />
        {t().editor.deploy}
      </button>
      <Show when={error()}>
        {(failure) => (
          <div class="wide-notice">
            <ErrorNotice error={failure()} />
          </div>
        )}
      </Show>
      <Confirm
        isOpen={isDeploying()}
        onClose={() => setDeploying(false)}
        title={`${t().editor.deploy}: ${props.project}`}
        text={t().editor.deployText}
        action={t().editor.deploy}
        command="weft deploy"
        onConfirm={deploy}
      />
    </>
  )
}

const compileSource = async (source: string, isTest: boolean): Promise<Uint8Array> => {
  const { compile, compileTest, ImportError } = await import("./compile.ts")
  try {
    return isTest ? compileTest(source) : compile(source)
  } catch (failure) {
    if (failure instanceof ImportError) throw new Error(t().editor.imports(failure.from))
    // The message has the line and the column.
    throw new Error(String(failure).replace("SyntaxError: Error transforming ", ""))
  }
}

/** Parses the input that a person typed. */
const parseInput = (text: string): Json => {
  try {
    return text.trim() === "" ? null : JSON.parse(text)
  } catch {
    throw new Error(t().editor.inputInvalid)
  }
}
