var explorables=(()=>{var x=Object.defineProperty;var E=Object.getOwnPropertyDescriptor;var A=Object.getOwnPropertyNames;var C=Object.prototype.hasOwnProperty;var L=(e,a)=>{for(var i in a)x(e,i,{get:a[i],enumerable:!0})},S=(e,a,i,r)=>{if(a&&typeof a=="object"||typeof a=="function")for(let t of A(a))!C.call(e,t)&&t!==i&&x(e,t,{get:()=>a[t],enumerable:!(r=E(a,t))||r.enumerable});return e};var j=e=>S(x({},"__esModule",{value:!0}),e);var q={};L(q,{start:()=>z});var v=`/* An explorable takes the colour of the text around it, so that it fits light and dark pages. */
:host { display: block; max-width: 660px; }
slot { display: none; }
.live { --line: color-mix(in srgb, currentColor 45%, transparent); --blue: #2f86c9; --orange: #dd6a1f; line-height: 1.45; }
.live * { box-sizing: border-box; }
.live p { margin: 0 0 8px; }
.question { font-weight: 600; }
.controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17em, 100%), 1fr)); gap: 6px 18px; }
.control { display: grid; grid-template-columns: 1fr 4em; gap: 2px 8px; align-items: center; padding: 3px 6px; border-inline-start: 3px solid var(--line); }
.control span { grid-column: 1 / -1; font-size: 0.92em; }
input { accent-color: var(--blue); width: 100%; min-width: 0; min-height: 24px; margin: 0; }
output { font-variant-numeric: tabular-nums; }
button { font: inherit; color: inherit; background: transparent; min-height: 28px; cursor: pointer; border: 1px solid var(--line); border-radius: 4px; padding: 2px 6px; }
button[aria-pressed="true"] { border-color: var(--blue); box-shadow: inset 0 0 0 1px var(--blue); font-weight: 600; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.text { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: center; }
.words { flex: 1 1 14em; }
.meter { display: grid; grid-template-columns: 7em 1fr 3em; gap: 8px; align-items: center; margin: 3px 0; }
progress { width: 100%; height: 0.9em; accent-color: var(--blue); }
.figure { margin: 8px 0; }
.live .figure p { margin: 3px 0; }
.good { border-inline-start: 3px solid #009e73; padding-inline-start: 8px; }
.bad { border-inline-start: 3px solid #d55e00; padding-inline-start: 8px; }
.reply { border: 1px solid var(--line); border-radius: 4px; padding: 2px 8px; }
.live .sentence { margin: 0; }
img { max-width: 100%; }
.chart { display: grid; grid-template-columns: 1.5em 1fr; gap: 0 2.6em; font-size: 0.86em; margin-top: 1em; }
.beside { writing-mode: vertical-lr; transform: rotate(180deg); text-align: center; }
.plot { position: relative; height: 15em; border: solid var(--line); border-width: 0 0 1px 1px; }
.plot span { position: absolute; white-space: nowrap; }
.plot .tick-x { transform: translate(-50%, 2px); }
.plot .tick-y { transform: translate(calc(-100% - 5px), -50%); }
.plot .note { transform: translateY(-50%); white-space: pre; }
.plot .note-end { transform: translate(-100%, -50%); white-space: pre; }
.below { grid-column: 2; text-align: center; margin-top: 1.6em; }
svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: hidden; }
path { fill: none; vector-effect: non-scaling-stroke; }
.bar { fill: currentColor; fill-opacity: 0.32; }
.marked { fill: var(--orange); }
.area { fill: var(--blue); fill-opacity: 0.16; }
.here, .result { stroke: var(--blue); stroke-width: 2.5; }
.axis { stroke: var(--line); }
.truth { stroke: currentColor; stroke-dasharray: 4 4; }
.dot { stroke: var(--orange); stroke-width: 9; stroke-linecap: round; }
@media print { .live { display: none; } slot { display: contents; } }
`;function n(e,a={},...i){let r=document.createElement(e);for(let[t,s]of Object.entries(a))t==="class"?r.className=s:t.startsWith("on")?r.addEventListener(t.slice(2),s):s!==!1&&s!==null&&s!==void 0&&r.setAttribute(t,s===!0?"":s);return r.append(...i.filter(t=>t!==null)),r}async function z(e,a){let i=Uint8Array.from(atob(a),o=>o.charCodeAt(0)),{question:r,heading:t,controls:s,frames:l,counts:d}=await new Response(new Blob([i]).stream().pipeThrough(new DecompressionStream("gzip"))).json(),f=n("div",{class:"figure"}),c=n("p",{class:"sentence",role:"status"}),p=()=>{let o=s.reduce((m,{values:g,at:k})=>m*g.length+k,0),u=l?l[o]:P(d,s);c.textContent=u.sentence,f.replaceChildren(...u.lines.map(([m,g])=>n("p",{class:m,dir:"auto"},g)),...u.meters.map(([m,g])=>n("div",{class:"meter","aria-hidden":"true"},n("span",{},m),n("progress",{value:g}),n("span",{},g))),...u.chart?[$(u.chart)]:[],...u.picture?[n("img",{src:u.picture,alt:u.sentence})]:[])},h=Map.groupBy(s.filter(({key:o})=>o),({key:o})=>o),y=n("div",{class:"controls"},...s.filter(({key:o})=>!o).map(o=>O(o,p)),...[...h].map(([o,u])=>n("div",{class:"text"},n("span",{},o),n("span",{class:"words",dir:"auto"},u[0].text),...u.map(m=>B(m,p))))),b=e.attachShadow({mode:"open"});b.append(n("style",{},v),n("section",{class:"live","aria-label":r},n("p",{class:"question"},r),n("p",{dir:"auto"},t),y,f,c),n("slot")),e.dataset.lmSuppressShortcuts="true",b.addEventListener("keydown",o=>o.stopPropagation()),p()}function O(e,a){let{label:i,values:r,at:t}=e,s=n("output",{"aria-hidden":"true"}),l=n("input",{type:"range",min:0,max:r.length-1,value:t,"aria-label":i}),d=()=>{e.at=l.valueAsNumber,l.ariaValueText=s.textContent=r[e.at]};return l.addEventListener("input",()=>{d(),a()}),d(),n("div",{class:"control"},n("span",{"aria-hidden":"true"},i),l,s)}function B(e,a){let{label:i,text:r}=e,t=n("button",{type:"button","aria-label":`${i}: ${r}`,"aria-pressed":String(e.at>0)},i);return t.addEventListener("click",()=>{e.at=1-e.at,t.ariaPressed=String(e.at>0),a()}),t}function P(e,a){let i=c=>a.filter(({label:p,at:h})=>p===c&&h).map(({key:p})=>p),[r,t,s]=["relevant","used","unsupported"].map(i),l=r.filter(c=>t.includes(c)),d={relevance:e.relevance[r.length],utilization:e.utilization[t.length],completeness:e.completeness[r.length][l.length],adherence:e.adherence[s.length]};return{sentence:Object.values(d).map(([c])=>c).join(" "),lines:[],meters:Object.entries(d).map(([c,[,p]])=>[c,p])}}function $({x:e,y:a,paths:i,texts:r}){let t=w("svg",{viewBox:"0 0 1 1",preserveAspectRatio:"none"});t.append(...i.map(([l,d])=>w("path",{class:l,d})));let s=r.map(([l,d,f,c])=>{let p=n("span",{class:l},c);return[p.style.left,p.style.top]=[`${100*d}%`,`${100*f}%`],p});return n("div",{class:"chart",dir:"ltr","aria-hidden":"true"},n("span",{class:"beside"},a),n("div",{class:"plot"},t,...s),n("span",{class:"below"},e))}function w(e,a){let i=document.createElementNS("http://www.w3.org/2000/svg",e);for(let[r,t]of Object.entries(a))i.setAttribute(r,t);return i}return j(q);})();
