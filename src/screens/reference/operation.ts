import { escapeHtml } from '../../kernel/html.ts';
import type { Book } from './book.ts';
import { type Answer, type Callers, meaningOf, nameOf, type Operation, shapeOf } from './description.ts';
import { type FieldContext, fieldList, parameterList } from './fields.ts';
import { exampleFigures } from './figures.ts';
import type { Section } from './sections.ts';
import { either, inline, linked, paragraphs } from './text.ts';

/** The method and the path, as one reads them in a log. */
export function routeOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  const parts = escapeHtml(path)
    .replaceAll(/\{\w+\}/g, (name) => `<var>${name}</var>`)
    .replaceAll(/(?<=\w|>)\/(?=\w|<var)/g, '/<wbr>');
  return `<span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${parts}</code>`;
}

/** One operation: its rules at the left, its example at the right. */
export function operationHtml(book: Book, section: Section, operation: Operation): string {
  const linker = (word: string) => book.linkTo(word, section);
  const context = (isRequest: boolean): FieldContext => ({ linker, schemaOf: book.schemaOf, isRequest });
  const { id, summary, description, parameters, body } = operation;
  const place = (where: string) => parameters.filter((each) => each.in === where);
  const parts = [
    `<p class="route">${routeOf(operation)}</p>`,
    description === undefined ? '' : paragraphs(description, linker),
    callersHtml(operation.callers),
    parametersHtml('Path', place('path'), context(true)),
    parametersHtml('Query', place('query'), context(true)),
    bodyHtml(book, body, context(true)),
    parametersHtml('Headers', place('header'), context(true)),
    returnsHtml(operation.answers, context(false)),
    refusalsHtml(book, operation),
  ];
  return (
    `<section class="op" id="${id}" aria-labelledby="${id}-name"><div class="text">` +
    `<h2 id="${id}-name"><a class="anchor" href="#${id}">${escapeHtml(summary)}</a></h2>${parts.join('')}</div>` +
    `<div class="shown"><div class="stay">${exampleFigures(operation, book.baseUrl)}</div></div></section>`
  );
}

function callersHtml({ apiKey, scope, roles, portal }: Callers): string {
  const who = [
    ...(apiKey ? ['API key'] : []),
    ...(scope === null ? [] : [`token with <code>${escapeHtml(scope)}</code>`]),
    `signed-in ${either(roles)}`,
    ...(portal ? ['portal'] : []),
  ];
  const chips = who.map((each) => `<li>${each}</li>`).join('');
  return `<ul class="who" aria-label="Who may call it">${chips}</ul>`;
}

function parametersHtml(title: string, parameters: Operation['parameters'], context: FieldContext): string {
  return parameters.length === 0 ? '' : `<h3>${title}</h3>${parameterList(parameters, context)}`;
}

function bodyHtml(book: Book, body: Operation['body'], context: FieldContext): string {
  if (body === null) return '';
  const name = nameOf(body.schema);
  const schema = name === null ? body.schema : book.schemaOf(name);
  const optional = body.required ? '' : '<p class="rules">The body may be left out.</p>';
  if (body.type !== 'application/json')
    return `<h3>Body</h3><p>A file, sent as <code>${escapeHtml(body.type)}</code>.</p>`;
  return `<h3>Body</h3>${optional}${fieldList(schema, context)}`;
}

function returnsHtml(answers: readonly Answer[], context: FieldContext): string {
  const listed = answers.map((answer) => ({ status: answer.status, html: returnedHtml(answer, context) }));
  const distinct = [...new Set(listed.map(({ html }) => html))];
  const lines = distinct.map((html) => {
    const statuses = listed.filter((each) => each.html === html).map(({ status }) => status);
    const codes = statuses.sort().map((status) => `<code>${status}</code>`);
    return `<div class="returned"><p>${either(codes)}: ${html}</div>`;
  });
  return `<h3>Returns</h3>${lines.join('')}`;
}

/** What an answer is, from inside a paragraph that it closes. */
function returnedHtml(answer: Answer, context: FieldContext): string {
  const shape = shapeOf(answer);
  if (shape.kind === 'object') return `an object.</p>${fieldList(shape.schema, context)}`;
  const record = (name: string) => linked(name, context.linker(name));
  if (shape.kind === 'record') return `the ${record(shape.name)}.</p>`;
  if (shape.kind === 'page') {
    return `a page of ${record(shape.name)} in <code>data</code>, with its ${linked('pagination', context.linker('Pagination'))}.</p>`;
  }
  if (shape.kind === 'file') return 'a CSV file.</p>';
  return 'no body.</p>';
}

/** Each status with the reasons of this operation; those of every operation by their names alone. */
function refusalsHtml({ description, linkTo }: Book, operation: Operation): string {
  const { everywhere } = description;
  const rows = operation.refusals.flatMap(({ status, reasons }) =>
    reasons
      .filter((reason) => !everywhere.has(reason))
      .map((reason) => ({ status, reason, meaning: meaningOf(reason) })),
  );
  const table =
    rows.length === 0
      ? ''
      : `<table class="reasons"><thead><tr><th scope="col">Status</th><th scope="col">Reason and meaning</th></tr></thead><tbody>` +
        rows
          .map(
            ({ status, reason, meaning }) =>
              `<tr><td><code>${status}</code></td><td><code>${reason}</code> ${inline(meaning)}</td></tr>`,
          )
          .join('') +
        '</tbody></table>';
  const common = operation.refusals.flatMap(({ status, reasons }) => {
    const shared = reasons.filter((reason) => everywhere.has(reason));
    const names = shared.map((reason) => `<code>${reason}</code>`).join(', ');
    return shared.length === 0 ? [] : [`<li><code>${status}</code>: ${names}</li>`];
  });
  const address = escapeHtml(linkTo('Error', null)?.replace(/^#/, '/docs#') ?? '/docs');
  const shared =
    `<details><summary>Errors of every operation</summary><ul class="common">${common.join('')}</ul>` +
    `<p>What each means: <a href="${address}">errors</a>.</p></details>`;
  return `<h3>Errors</h3>${table}${shared}`;
}
