/** Writes, runs and deploys the functions of a project. */
import { A, useSearchParams } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import { createEffect, createSignal, For, type JSX, lazy, on, Show, Suspense } from "solid-js"
import { weft } from "../api/client.ts"
import { useProjects } from "../builds/useBuilds.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Rich } from "../design/Rich.tsx"
import { t } from "../text/Language.ts"
import { EditorActions } from "./EditorActions.tsx"
import { RunPanel } from "./RunPanel.tsx"
import { starterInput } from "./snippets.ts"
import type { TestRun } from "./testRun.ts"
import { keepDraft, useSource } from "./useSource.ts"
import "./editor.css"
import "../runs/runs.css"

const CodeEditor = lazy(() => import("./CodeEditor.tsx"))

const newProject = "my-functions"

export default function EditorPage(): JSX.Element {
  const [search, setSearch] = useSearchParams<{ project?: string }>()
  const projects = useProjects()
  const project = () => (typeof search.project === "string" ? search.project : (projects.data?.[0]?.name ?? newProject))
  const exists = () => projects.data?.some(({ name }) => name === project()) === true
  const source = useSource(project, exists, () => projects.data !== undefined)
  const [text, setText] = createSignal("")
  createEffect(
    on(
      () => source.data,
      (found) => found && setText(found.text)
    )
  )
  const secrets = useSecretNames(project, exists)
  const [input, setInput] = createSignal(starterInput)
  const [run, setRun] = createSignal<TestRun | null>(null)
  const write = (next: string) => {
    setText(next)
    keepDraft(project(), next)
  }
  return (
    <div class="page editor-page">
      <div class="page-head">
        <h1>{t().editor.title}</h1>
        <label class="inline-field">
          <span>{t().editor.project}</span>
          <input
            class="input"
            list="projects"
            value={project()}
            onChange={(event) => setSearch({ project: event.currentTarget.value.trim() || undefined })}
          />
          <datalist id="projects">
            <For each={projects.data}>{({ name }) => <option value={name} />}</For>
          </datalist>
        </label>
        <div class="actions">
          <EditorActions project={project()} exists={exists()} source={text()} input={input()} onRun={setRun} />
        </div>
      </div>
      <Show when={projects.error ?? source.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={source.data?.isEditable === false}>
        <p class="notice warning" role="status">
          <span>
            <Rich text={t().editor.notEditable} />
          </span>
        </p>
      </Show>
      <div class="editor-grid">
        <div class="card editor-card">
          <Suspense fallback={<p class="card-body muted">{t().editor.loading} …</p>}>
            <Show when={source.data}>
              {(found) => <CodeEditor initial={found().text} secrets={secrets()} onChange={write} />}
            </Show>
          </Suspense>
          <p class="editor-foot muted">{t().editor.keys}</p>
        </div>
        <div class="editor-side">
          <InputCard input={input()} onInput={setInput} secrets={secrets()} project={project()} />
          <RunPanel run={run()} />
        </div>
      </div>
    </div>
  )
}

const InputCard = (props: {
  readonly input: string
  readonly onInput: (text: string) => void
  readonly secrets: ReadonlyArray<string>
  readonly project: string
}): JSX.Element => (
  <section class="card" aria-labelledby="input">
    <div class="card-head">
      <h2 id="input">{t().run.input}</h2>
    </div>
    <div class="card-body grid">
      <label class="field">
        <span>{t().editor.input}</span>
        <textarea
          class="input short"
          spellcheck={false}
          value={props.input}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      </label>
      <SecretNames names={props.secrets} project={props.project} />
    </div>
  </section>
)

/** Names of the project's secrets. Empty without the permission to read them. */
const useSecretNames = (project: () => string, exists: () => boolean): (() => ReadonlyArray<string>) => {
  const names = useQuery(() => ({
    queryKey: ["context", project()],
    queryFn: async () => (await weft.context.list(project(), { limit: 100 })).items,
    enabled: exists()
  }))
  return () => (names.data ?? []).map(({ key }) => key)
}

const SecretNames = (props: { readonly names: ReadonlyArray<string>; readonly project: string }): JSX.Element => (
  <div class="small">
    <A href={`/secrets?project=${encodeURIComponent(props.project)}`}>{t().editor.secrets}</A>
    <Show when={props.names.length === 0}>
      <p class="muted">{t().editor.noSecrets}</p>
    </Show>
    <ul class="tags">
      <For each={props.names}>{(name) => <li class="badge plain mono">{name}</li>}</For>
    </ul>
  </div>
)
