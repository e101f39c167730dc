// What the printed functions call. Each function of the second part gives whether the row leaves:
// then the host has the answer, or the exception.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// No product and sum in one rounding: CPython has two.
#pragma OPENCL FP_CONTRACT OFF

// A list: its length, its room, the address of its elements (0: they follow), each some words.
typedef global ulong *list;

// What a work item has.
struct item {
  // Rounds of loops and calls that are left.
  uint fuel;
  // Constant lists.
  list tables;
  // Its part of the arena: where, how many words are taken, and how many there are.
  list arena;
  ulong used;
  ulong room;
};

#define LEAVE 1003
// A row that leaves since its part of the arena is full.
#define FULL 1004

static int bit_of(global const uchar *bits, ulong at) { return (bits[at >> 3] >> (at & 7)) & 1; }

// Ints of 64 bits.

static int add_overflows(long a, long b) {
  long sum = (long)((ulong)a + (ulong)b);
  return ((a ^ sum) & (b ^ sum)) < 0;
}

static int sub_overflows(long a, long b) {
  long rest = (long)((ulong)a - (ulong)b);
  return ((a ^ b) & (a ^ rest)) < 0;
}

static int mul_overflows(long a, long b) {
  return mul_hi(a, b) != (long)((ulong)a * (ulong)b) >> 63;
}

static int shift_overflows(long a, long count) {
  if (count > 63) return a != 0;
  return ((long)((ulong)a << count)) >> count != a;
}

static long floor_div(long a, long b) {
  long quotient = a / b;
  return quotient - ((a - quotient * b != 0) & ((a ^ b) < 0));
}

static long floor_mod(long a, long b) {
  // The remainder by -1 is 0; the machine's may trap for the least int.
  if (b == -1) return 0;
  long rest = a % b;
  return rest != 0 && (rest ^ b) < 0 ? rest + b : rest;
}

// Whether a float holds the int.
static int is_exact(long a) { return a >= -(1L << 53) && a <= 1L << 53; }

// Lists.

static list list_at(list header, long at, ulong width) {
  list items = header[2] ? (list)header[2] : header + 3;
  return items + (ulong)at * width;
}

static list allocate(struct item *item, ulong words) {
  if (words > item->room - item->used) return 0;
  list at = item->arena + item->used;
  item->used += words;
  return at;
}

static list list_new(struct item *item, ulong room, ulong width) {
  list header = allocate(item, 3 + room * width);
  if (header) {
    header[0] = 0;
    header[1] = room;
    header[2] = (ulong)(header + 3);
  }
  return header;
}

// Makes room for an element behind the last; gives where it goes.
static list list_append(struct item *item, list header, ulong width) {
  ulong length = header[0];
  // One that lies where it is, an argument, has elements and no room.
  if (length >= header[1]) {
    ulong room = length < 4 ? 4 : 2 * length;
    list items = allocate(item, room * width);
    if (!items) return 0;
    list old = (list)header[2];
    for (ulong at = 0; at < length * width; at++) items[at] = old[at];
    header[1] = room;
    header[2] = (ulong)items;
  }
  header[0] = length + 1;
  return (list)header[2] + length * width;
}

// A new list of so many elements from one on, by a step; all lie within.
static list list_stride(struct item *item, list from, long start, long step, long count, ulong width) {
  list header = list_new(item, (ulong)count, width);
  if (!header) return 0;
  header[0] = (ulong)count;
  for (long at = 0; at < count; at++) {
    list source = list_at(from, start + at * step, width);
    list target = list_at(header, at, width);
    for (ulong word = 0; word < width; word++) target[word] = source[word];
  }
  return header;
}

// A position of a slice, counted from the end where it is negative, within the list.
static long bound(long at, long length) { return at < 0 ? max(at + length, 0L) : min(at, length); }

static list list_slice(struct item *item, list from, long start, long stop, ulong width) {
  long length = (long)from[0];
  start = bound(start, length);
  stop = max(bound(stop, length), start);
  return list_stride(item, from, start, 1, stop - start, width);
}

// Appends the elements of another list, which may be the list itself, so many times; gives whether there was
// room.
static int list_extend(struct item *item, list header, list other, long times, ulong width) {
  ulong count = other[0];
  if (count == 0) return 1;
  for (long turn = 0; turn < times; turn++) {
    for (ulong at = 0; at < count; at++) {
      list target = list_append(item, header, width);
      if (!target) return 0;
      list source = list_at(other, (long)at, width);
      for (ulong word = 0; word < width; word++) target[word] = source[word];
    }
  }
  return 1;
}

static list list_concat(struct item *item, list first, list second, ulong width) {
  list header = list_slice(item, first, 0, (long)first[0], width);
  return header && list_extend(item, header, second, 1, width) ? header : 0;
}

// Operations of floats whose results IEEE 754 fixes.

static int float_trunc(double x, long *to) {
  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) return LEAVE;
  *to = (long)x;
  return 0;
}

static int float_floor(double x, long *to) { return float_trunc(floor(x), to); }

static int float_ceil(double x, long *to) { return float_trunc(ceil(x), to); }

static int float_round(double x, long *to) { return float_trunc(rint(x), to); }

static int float_is_integer(double x, int *to) {
  *to = isfinite(x) && floor(x) == x;
  return 0;
}

// The remainder takes as many steps as the exponents are apart, which no fuel counts.
static int is_far(double a, double b) { return fabs(a) > fabs(b) * 0x1p128; }

static double signed_rest(double a, double b) {
  double rest = fmod(a, b);
  if (rest != 0.0) return (b < 0.0) != (rest < 0.0) ? rest + b : rest;
  return copysign(0.0, b);
}

static double floor_quotient(double a, double b) {
  double rest = fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0.0 && (b < 0.0) != (rest < 0.0)) quotient -= 1.0;
  if (quotient == 0.0) return copysign(0.0, a / b);
  double whole = floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

static int float_mod(double a, double b, double *to) {
  if (b == 0.0 || is_far(a, b)) return LEAVE;
  *to = signed_rest(a, b);
  return 0;
}

static int float_floordiv(double a, double b, double *to) {
  if (b == 0.0 || is_far(a, b)) return LEAVE;
  *to = floor_quotient(a, b);
  return 0;
}

static int ufunc_remainder(double a, double b, double *to) {
  if (is_far(a, b)) return LEAVE;
  *to = b == 0.0 ? fmod(a, b) : signed_rest(a, b);
  return 0;
}

static int ufunc_floor_divide(double a, double b, double *to) {
  if (is_far(a, b)) return LEAVE;
  *to = b == 0.0 ? a / b : floor_quotient(a, b);
  return 0;
}

static int ufunc_fmod(double a, double b, double *to) {
  if (is_far(a, b)) return LEAVE;
  *to = fmod(a, b);
  return 0;
}

static int math_fmod(double a, double b, double *to) {
  if (!isfinite(a) || !isfinite(b) || b == 0.0 || is_far(a, b)) return LEAVE;
  *to = fmod(a, b);
  return 0;
}

static int math_fabs(double x, double *to) {
  *to = fabs(x);
  return 0;
}

static int math_copysign(double x, double y, double *to) {
  *to = copysign(x, y);
  return 0;
}

static int math_degrees(double x, double *to) {
  *to = x * (180.0 / 3.141592653589793);
  return 0;
}

static int math_radians(double x, double *to) {
  *to = x * (3.141592653589793 / 180.0);
  return 0;
}

static int math_isnan(double x, int *to) {
  *to = isnan(x) != 0;
  return 0;
}

static int math_isinf(double x, int *to) {
  *to = isinf(x) != 0;
  return 0;
}

static int math_isfinite(double x, int *to) {
  *to = isfinite(x) != 0;
  return 0;
}

static int int_bit_length(long x, long *to) {
  *to = 64 - (long)clz(abs(x));
  return 0;
}

static int int_pow(long base, long exponent, long *to) {
  if (exponent < 0) return LEAVE;
  long power = 1;
  while (exponent) {
    if (exponent & 1) {
      if (mul_overflows(power, base)) return LEAVE;
      power *= base;
    }
    exponent >>= 1;
    if (exponent) {
      if (mul_overflows(base, base)) return LEAVE;
      base *= base;
    }
  }
  *to = power;
  return 0;
}

// Exactly, without rounding the int.
static int order(long a, double b) {
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  long whole = (long)b;
  if (a != whole) return a < whole ? -1 : 1;
  double back = (double)whole;
  return back < b ? -1 : back > b;
}

#define COMPARISON(name, test)                                    \
  static int int_float_##name(long a, double b, int *to) {        \
    int by = order(a, b);                                         \
    *to = !isnan(b) && (by test 0);                               \
    return 0;                                                     \
  }                                                               \
  static int float_int_##name(double a, long b, int *to) {        \
    int by = -order(b, a);                                        \
    *to = !isnan(a) && (by test 0);                               \
    return 0;                                                     \
  }
COMPARISON(eq, ==)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

static int int_float_ne(long a, double b, int *to) {
  *to = isnan(b) || order(a, b) != 0;
  return 0;
}

static int float_int_ne(double a, long b, int *to) { return int_float_ne(b, a, to); }

// Elementary functions.
//
// CPython calls the C library's. Those of glibc do not round correctly, but their errors are
// known (B. Gladman, V. Innocente, J. Mather, P. Zimmermann: "Accuracy of Mathematical Functions in
// Single, Double, Double Extended, and Quadruple Precision", the column of glibc): a
// little more than half a unit in the last place. So here the value is computed as a sum of two
// floats, with an error below 2^-70; where that is farther from the middle between two floats than
// the library's error allows, the library gives the same float; the few others leave.

static double2 quick_sum(double a, double b) {
  double sum = a + b;
  return (double2)(sum, b - (sum - a));
}

static double2 two_sum(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  return (double2)(sum, (a - (sum - part)) + (b - part));
}

static double2 two_product(double a, double b) {
  double product = a * b;
  return (double2)(product, fma(a, b, -product));
}

static double2 dd_add(double2 a, double2 b) {
  double2 sum = two_sum(a.x, b.x);
  double2 low = two_sum(a.y, b.y);
  sum = quick_sum(sum.x, sum.y + low.x);
  return quick_sum(sum.x, sum.y + low.y);
}

static double2 dd_mul(double2 a, double2 b) {
  double2 product = two_product(a.x, b.x);
  return quick_sum(product.x, product.y + (a.x * b.y + a.y * b.x));
}

static double2 dd_div(double2 a, double2 b) {
  double first = a.x / b.x;
  double2 rest = dd_add(a, -dd_mul(b, (double2)(first, 0.0)));
  double second = rest.x / b.x;
  rest = dd_add(rest, -dd_mul(b, (double2)(second, 0.0)));
  double2 sum = quick_sum(first, second);
  return dd_add(sum, (double2)(rest.x / b.x, 0.0));
}

// The float next to a value, if it lies nearer than `sure` units in the last place.
static int certain(double2 value, double sure, double *to) {
  double magnitude = fabs(value.x);
  if (!(magnitude > 0x1p-1000 && magnitude < 0x1p1000)) return LEAVE;
  double binade = as_double(as_ulong(magnitude) & 0x7ff0000000000000UL);
  // Below a power of two floats lie closer.
  double unit = magnitude == binade ? binade * 0x1p-53 : binade * 0x1p-52;
  if (!(fabs(value.y) < sure * unit)) return LEAVE;
  *to = value.x;
  return 0;
}

// 1/n! with the signs of the series, from the highest power on.
#define LN2 (double2)(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56)
#define HALF_PI (double2)(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54)
constant double2 EXP_TERMS[] = {
  (double2)(0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76),
  (double2)(0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73),
  (double2)(0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76),
  (double2)(0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73),
  (double2)(0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65),
  (double2)(0x1.1111111111111p-7, 0x1.1111111111111p-63),
  (double2)(0x1.5555555555555p-5, 0x1.5555555555555p-59),
  (double2)(0x1.5555555555555p-3, 0x1.5555555555555p-57),
  (double2)(0x1.0000000000000p-1, 0.0),
};
constant double2 SIN_TERMS[] = {
  (double2)(-0x1.d1ab1c2dccea3p-94, -0x1.054d0c78aea14p-149),
  (double2)(0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139),
  (double2)(-0x1.761b41316381ap-75, 0x1.3423c7d91404fp-130),
  (double2)(0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120),
  (double2)(-0x1.2f49b46814157p-57, -0x1.2650f61dbdcb4p-112),
  (double2)(0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103),
  (double2)(-0x1.ae7f3e733b81fp-41, -0x1.1d8656b0ee8cbp-97),
  (double2)(0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87),
  (double2)(-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80),
  (double2)(0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73),
  (double2)(-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73),
  (double2)(0x1.1111111111111p-7, 0x1.1111111111111p-63),
  (double2)(-0x1.5555555555555p-3, -0x1.5555555555555p-57),
};
constant double2 COS_TERMS[] = {
  (double2)(0x1.0a18a2635085dp-98, 0x1.b9e2e28e1aa54p-153),
  (double2)(-0x1.88e85fc6a4e5ap-89, 0x1.71c37ebd16540p-143),
  (double2)(0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135),
  (double2)(-0x1.0ce396db7f853p-70, 0x1.aebcdbd20331cp-124),
  (double2)(0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120),
  (double2)(-0x1.6827863b97d97p-53, -0x1.eec01221a8b0bp-107),
  (double2)(0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101),
  (double2)(-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92),
  (double2)(0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83),
  (double2)(-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76),
  (double2)(0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76),
  (double2)(-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65),
  (double2)(0x1.5555555555555p-5, 0x1.5555555555555p-59),
  (double2)(-0x1.0000000000000p-1, 0.0),
};

// e to a power between -690 and 690.
static double2 dd_exp(double2 x) {
  double k = rint(x.x * 1.4426950408889634);
  double2 rest = dd_add(x, -dd_mul(LN2, (double2)(k, 0.0)));
  rest = rest * (1.0 / 256.0);
  double2 sum = EXP_TERMS[0];
  for (int at = 1; at < 9; at++) sum = dd_add(dd_mul(sum, rest), EXP_TERMS[at]);
  // e^rest - 1, and its powers.
  sum = dd_add(rest, dd_mul(sum, dd_mul(rest, rest)));
  for (int at = 0; at < 8; at++) sum = dd_add(sum * 2.0, dd_mul(sum, sum));
  sum = dd_add((double2)(1.0, 0.0), sum);
  double scale = as_double((ulong)((long)k + 1023) << 52);
  return sum * scale;
}

// The logarithm of a normal float.
static double2 dd_log(double x) {
  ulong bits = as_ulong(x);
  long exponent = (long)(bits >> 52) - 1023;
  double part = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
  if (part > 1.4142135623730951) {
    part *= 0.5;
    exponent += 1;
  }
  double2 sum;
  double t = part - 1.0;
  if (fabs(t) < 0x1p-20) {
    double2 rest = (double2)(t, 0.0);
    sum = (double2)(-0x1.5555555555555p-3, -0x1.5555555555555p-57);
    sum = dd_add(dd_mul(sum, rest), (double2)(0.2, -0x1.999999999999ap-57));
    sum = dd_add(dd_mul(sum, rest), (double2)(-0.25, 0.0));
    sum = dd_add(dd_mul(sum, rest), dd_div((double2)(1.0, 0.0), (double2)(3.0, 0.0)));
    sum = dd_add(dd_mul(sum, rest), (double2)(-0.5, 0.0));
    sum = dd_add(dd_mul(sum, dd_mul(rest, rest)), rest);
  } else {
    double near = log(part);
    double2 over = dd_mul(dd_exp((double2)(-near, 0.0)), (double2)(part, 0.0));
    over = dd_add(over, (double2)(-1.0, 0.0));
    sum = dd_add((double2)(near, 0.0), dd_add(over, (double2)(-0.5 * over.x * over.x, 0.0)));
  }
  return dd_add(dd_mul(LN2, (double2)((double)exponent, 0.0)), sum);
}

static int math_exp(double x, double *to) {
  if (!(x > -690.0 && x < 690.0)) return LEAVE;
  if (x == 0.0) {
    *to = 1.0;
    return 0;
  }
  return certain(dd_exp((double2)(x, 0.0)), 0.485, to);
}

static int math_log(double x, double *to) {
  if (!(x >= 0x1p-1022 && x < INFINITY)) return LEAVE;
  if (x == 1.0) {
    *to = 0.0;
    return 0;
  }
  return certain(dd_log(x), 0.475, to);
}

static int float_pow(double base, double exponent, double *to) {
  if (exponent == 2.0) {
    if (base == 0.0) {
      *to = 0.0;
      return 0;
    }
    return certain(two_product(base, base), 0.47, to);
  }
  if (exponent == 0.0) {
    *to = 1.0;
    return 0;
  }
  double magnitude = fabs(base);
  if (!(magnitude >= 0x1p-1022 && magnitude < INFINITY && fabs(exponent) < 0x1p60)) return LEAVE;
  if (base < 0.0 && exponent != floor(exponent)) return LEAVE;
  if (magnitude == 1.0) {
    *to = base < 0.0 && fmod(exponent, 2.0) != 0.0 ? -1.0 : 1.0;
    return 0;
  }
  double2 power = dd_mul(dd_log(magnitude), (double2)(exponent, 0.0));
  if (!(fabs(power.x) < 690.0)) return LEAVE;
  double value;
  if (certain(dd_exp(power), 0.47, &value)) return LEAVE;
  *to = base < 0.0 && fmod(exponent, 2.0) != 0.0 ? -value : value;
  return 0;
}

// The sine and cosine of an angle of less than a quarter of pi in magnitude.
static double2 small_sin(double2 x) {
  double2 square = dd_mul(x, x);
  double2 sum = SIN_TERMS[0];
  for (int at = 1; at < 13; at++) sum = dd_add(dd_mul(sum, square), SIN_TERMS[at]);
  return dd_add(x, dd_mul(dd_mul(sum, square), x));
}

static double2 small_cos(double2 x) {
  double2 square = dd_mul(x, x);
  double2 sum = COS_TERMS[0];
  for (int at = 1; at < 14; at++) sum = dd_add(dd_mul(sum, square), COS_TERMS[at]);
  return dd_add((double2)(1.0, 0.0), dd_mul(sum, square));
}

// Both of an angle below 2^20 in magnitude; gives whether its distance to a multiple of half of pi
// is too small to be known.
static int dd_sin_cos(double x, double2 *sine, double2 *cosine) {
  double k = rint(x * 0.6366197723675814);
  double2 rest = dd_add((double2)(x, 0.0), -dd_mul(HALF_PI, (double2)(k, 0.0)));
  if (k != 0.0 && fabs(rest.x) < 0x1p-20) return 1;
  double2 s = small_sin(rest);
  double2 c = small_cos(rest);
  if ((int)k & 1) {
    double2 t = s;
    s = c;
    c = -t;
  }
  if ((int)k & 2) {
    s = -s;
    c = -c;
  }
  *sine = s;
  *cosine = c;
  return 0;
}

static int math_sin(double x, double *to) {
  if (!(fabs(x) < 0x1p20)) return LEAVE;
  if (x == 0.0) {
    *to = x;
    return 0;
  }
  double2 s, c;
  if (dd_sin_cos(x, &s, &c)) return LEAVE;
  return certain(s, 0.47, to);
}

static int math_cos(double x, double *to) {
  if (!(fabs(x) < 0x1p20)) return LEAVE;
  if (x == 0.0) {
    *to = 1.0;
    return 0;
  }
  double2 s, c;
  if (dd_sin_cos(x, &s, &c)) return LEAVE;
  return certain(c, 0.47, to);
}

// One step of Newton's from the device's own value, which is good to some units in the last place.
static int dd_asin(double x, double2 *to) {
  double near = asin(x);
  double2 s, c;
  if (dd_sin_cos(near, &s, &c)) return 1;
  double2 step = dd_div(dd_add((double2)(x, 0.0), -s), c);
  *to = dd_add((double2)(near, 0.0), step);
  return 0;
}

static int math_asin(double x, double *to) {
  if (!(fabs(x) < 0.999)) return LEAVE;
  if (x == 0.0) {
    *to = x;
    return 0;
  }
  double2 angle;
  if (dd_asin(x, &angle)) return LEAVE;
  return certain(angle, 0.465, to);
}

static int math_acos(double x, double *to) {
  if (!(fabs(x) < 0.999)) return LEAVE;
  double2 angle = (double2)(0.0, 0.0);
  if (x != 0.0 && dd_asin(x, &angle)) return LEAVE;
  return certain(dd_add(HALF_PI, -angle), 0.465, to);
}

// The tangent of what the device's angle lacks.
static int dd_atan2(double y, double x, double near, double2 *to) {
  double2 s, c;
  if (dd_sin_cos(near, &s, &c)) return 1;
  double2 up = (double2)(y, 0.0);
  double2 along = (double2)(x, 0.0);
  double2 over = dd_add(dd_mul(up, c), -dd_mul(along, s));
  double2 under = dd_add(dd_mul(along, c), dd_mul(up, s));
  *to = dd_add((double2)(near, 0.0), dd_div(over, under));
  return 0;
}

static int math_atan(double x, double *to) {
  if (!(fabs(x) > 0x1p-500 && fabs(x) < 0x1p30)) return LEAVE;
  double2 angle;
  if (dd_atan2(x, 1.0, atan(x), &angle)) return LEAVE;
  return certain(angle, 0.465, to);
}

static int math_atan2(double y, double x, double *to) {
  if (!(fabs(x) > 0x1p-500 && fabs(x) < 0x1p500 && fabs(y) > 0x1p-500 && fabs(y) < 0x1p500)) return LEAVE;
  double2 angle;
  if (dd_atan2(y, x, atan2(y, x), &angle)) return LEAVE;
  return certain(angle, 0.465, to);
}

